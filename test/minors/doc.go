// Package minors runs Jobledger with the API server, the controllers and the scheduler of each minor version of
// Kubernetes from 1.32 on, built from their modules. It compares the output of 'doctor' with what the server really
// serves. It compares Jobs and a CronJob under --manage=all with the same Jobs under the built-in Job controller of
// that version. It runs delegated Jobs beside it, and observes it.
//
// Some servers have feature gates off that later versions have locked on, so they drop fields of Jobs.
//
// The first run builds the programs, which takes up to a quarter of an hour for each version; it needs JOBLEDGER_LONG.
package minors
