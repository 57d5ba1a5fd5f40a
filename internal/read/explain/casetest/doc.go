// Package casetest makes a jobcase.Case (what the records say about a Job) for tests of the packages below explain. A
// test passes only the facts that it is about.
package casetest
