// Package podfailure evaluates the podFailurePolicy of a Job for a failed pod. Tests use it to check the controller. It
// is written from the contract, and shares no code with the controller, so that both do not have the same bug.
package podfailure
