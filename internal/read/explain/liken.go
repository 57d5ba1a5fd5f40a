package explain

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	numbers = regexp.MustCompile(`\d+`)
	suffix  = `(-\d+)?(-[a-z0-9]{5})?\b`
)

func Liken(text, job string) string { return numbers.ReplaceAllString(Unnamed(text, job), "#") }

// Unnamed replaces the names of a Job and its pods in a text with "*", so that texts about other Jobs can be equal.
func Unnamed(text, job string) string {
	if job == "" {
		return text
	}
	// A text that is not UTF-8 is no name in Kubernetes, and cannot be part of a regular expression: replace it as it
	// is.
	if !utf8.ValidString(job) {
		return strings.ReplaceAll(text, job, "*")
	}
	return regexp.MustCompile(regexp.QuoteMeta(job)+suffix).ReplaceAllString(text, "*")
}
