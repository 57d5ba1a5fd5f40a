// Package podfailure says what a podFailurePolicy makes of a failed pod, for those who judge a controller: it is
// written from the contract, and shares nothing with the controller.
package podfailure
