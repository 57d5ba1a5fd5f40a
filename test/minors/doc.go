// Package minors runs Jobledger with the API server, the controllers and the scheduler of each minor version of
// Kubernetes from 1.32 on, built from their modules. It compares the output of 'jobledger doctor' with the APIs that
// the server really has. It compares Jobs and a CronJob under --manage=all with the same Jobs under the built-in Job
// controller of that version. It also runs delegated Jobs beside the built-in controller, and observes that controller.
//
// In some older versions, feature gates are off that later versions cannot switch off. These servers drop fields of
// Jobs.
//
// The first run builds the programs, which takes up to a quarter of an hour for each version; it needs JOBLEDGER_LONG.
package minors
