// Package podfailure evaluates a podFailurePolicy for a failed pod, for the judges of a controller. It is written from
// the contract and shares no code with the controller.
package podfailure
