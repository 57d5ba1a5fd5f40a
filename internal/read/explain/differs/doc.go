// Package differs compares two specs of Jobs, and two pod templates with redacted values, field by field.
//
// # Concurrency
//
// Functions may be called at the same time.
package differs
