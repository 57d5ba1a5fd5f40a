// Package incidents has the logs of the recorded incidents, as a part of the program: 'jobledger ui --sample' shows
// them. They are packed files of some 0.6 MB, and are only read. README.md says what happened in each.
package incidents
