package explain

import (
	"regexp"
)

var (
	numbers = regexp.MustCompile(`\d+`)
	suffix  = `(-\d+)?(-[a-z0-9]{5})?\b`
)

func Liken(text, job string) string { return numbers.ReplaceAllString(Unnamed(text, job), "#") }

// Unnamed replaces the names of a Job and its pods in a text with "*".
func Unnamed(text, job string) string {
	if job == "" {
		return text
	}
	return regexp.MustCompile(regexp.QuoteMeta(job)+suffix).ReplaceAllString(text, "*")
}
