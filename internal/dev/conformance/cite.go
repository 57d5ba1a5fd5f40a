package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// citation is a place in a test (a comment or a table row) that names rules of the contract, with the sentence there.
// The sentence says what the test asserts about the rules.
type citation struct {
	rules []string
	says  string
}

const (
	one  = `[JCTO]-\d{3}`
	many = one + `(?:(?:, and |, | and | to |; )` + one + `)*`
	part = `design §\d+(?:, invariant \d+)?`
)

var (
	leading  = regexp.MustCompile(`^(` + many + `): +(.*)$`)
	only     = regexp.MustCompile(`^` + many + `$`)
	bracket  = regexp.MustCompile(` *\((?:` + part + `, )*` + many + `(?:, ` + part + `)*\)`)
	anyRules = regexp.MustCompile(many)
	sentence = regexp.MustCompile(`(?s)(.*?[.!?](?: |$)|.+$)`)
	testName = regexp.MustCompile(`^(?:Test|Fuzz)\w+(?::| is| are| shows| covers| holds)? *`)
)

// citations returns the citations (places that name rules) in a comment: each paragraph that begins with rules and a
// colon, and each other sentence that names rules.
func citations(text string) []citation {
	var all []citation
	for _, paragraph := range paragraphs(text) {
		if m := leading.FindStringSubmatch(paragraph); m != nil {
			all = append(all, citation{rules: expand(m[1]), says: bare(m[2])})
			continue
		}
		for _, s := range sentence.FindAllString(paragraph, -1) {
			if c, ok := inSentence(s); ok {
				all = append(all, c)
			}
		}
	}
	return all
}

// paragraphs joins the lines of a comment into paragraphs. A line that begins with rules and a colon begins a new one,
// and an empty line ends it.
func paragraphs(text string) []string {
	var all []string
	open := false
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			open = false
			continue
		case !open || leading.MatchString(line):
			all = append(all, line)
			open = true
		default:
			all[len(all)-1] += " " + line
		}
	}
	return all
}

// inSentence returns the rules that a sentence names, and the sentence; ok is false if it names none.
func inSentence(s string) (c citation, ok bool) {
	for _, found := range anyRules.FindAllString(s, -1) {
		c.rules = append(c.rules, expand(found)...)
	}
	c.says = bare(s)
	return c, len(c.rules) > 0
}

// bare returns a sentence without rules in brackets, without the name of a test at its beginning, and without the full
// stop.
func bare(s string) string {
	s = bracket.ReplaceAllString(s, "")
	s = testName.ReplaceAllString(strings.TrimSpace(s), "")
	s = anyRules.ReplaceAllStringFunc(s, func(rules string) string {
		if only.MatchString(strings.TrimRight(s, ".")) {
			return ""
		}
		return rules
	})
	return strings.TrimSpace(strings.TrimRight(strings.TrimSpace(s), "."))
}

// expand returns each rule of a list such as "J-061 to J-063, J-070".
func expand(list string) []string {
	var ids []string
	for _, part := range strings.FieldsFunc(strings.NewReplacer(" and ", ",", ";", ",").Replace(list), func(r rune) bool { return r == ',' }) {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), " to ")
		if !isRange {
			to = from
		}
		letter, first := parts(from)
		_, last := parts(to)
		for n := first; n <= last; n++ {
			ids = append(ids, fmt.Sprintf("%s-%03d", letter, n))
		}
	}
	return ids
}

// parts splits the identifier of a rule: "J-061" into "J" and 61.
func parts(id string) (letter string, n int) {
	letter, number, _ := strings.Cut(id, "-")
	n, _ = strconv.Atoi(number) // no error is possible: a regular expression has matched the digits
	return letter, n
}
