// Package minors holds Jobledger against the API server, the controllers and the scheduler of each minor version of
// Kubernetes from 1.32 on, built from their modules: what 'doctor' says of a server against what the server really
// serves; Jobs and a CronJob under --manage=all against the same Jobs under the built-in Job controller of that
// version; delegated Jobs beside it; and observing it.
//
// Some servers have feature gates off that the later ones have locked on, so that they drop fields of Jobs.
//
// The first run builds the programs, up to a quarter of an hour for each version; it is played with JOBLEDGER_LONG
// alone.
package minors
