// Package casetest makes cases of a Job for the tests of the rooms of answers, from what such a test is about.
package casetest
