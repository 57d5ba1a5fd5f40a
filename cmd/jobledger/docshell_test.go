package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docCommand is a simple command that a page shows: a program and its arguments.
type docCommand struct {
	where string // the page, and the line as it stands there
	words []string
	named bool // in a sentence, where it may lack arguments
}

var (
	block  = regexp.MustCompile("(?ms)^( *)```(\\w*)\n(.*?)^ *```")
	inline = regexp.MustCompile("`([^`\n]+)`")
)

// commandsOf are the commands that a page shows: those of its blocks, and those in a sentence that begin with a program
// that is ours.
func commandsOf(page, text string) (all []docCommand) {
	add := func(line string, named bool) {
		for _, words := range simple(line) {
			all = append(all, docCommand{page + ": " + line, words, named})
		}
	}
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		language, body := m[2], strings.ReplaceAll(m[3], "\\\n", "")
		for line := range strings.Lines(body) {
			line = strings.TrimSpace(line)
			command, prompted := strings.CutPrefix(line, "$ ")
			switch {
			case language == "console" && prompted, language == "sh":
				add(command, false)
			case language == "" && ours.MatchString(line):
				add(line, false)
			}
		}
	}
	for _, m := range inline.FindAllStringSubmatch(block.ReplaceAllString(text, ""), -1) {
		if ours.MatchString(m[1]) && !strings.Contains(m[1], "[") { // else it is a synopsis
			add(m[1], true)
		}
	}
	return all
}

var ours = regexp.MustCompile(`^(bin/)?(jobledger|kubectl jobledger|make|helm|kubectl) [a-z-]`)

// simple takes a line of the shell apart into its simple commands.
func simple(line string) (commands [][]string) {
	var words []string
	var word strings.Builder
	begun, quote := false, rune(0)
	endWord := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	endCommand := func() {
		endWord()
		for len(words) > 0 && (slices.Contains([]string{"until", "do", "done", "while", "!"}, words[0]) || assignment.MatchString(words[0])) {
			words = words[1:]
		}
		if len(words) > 0 {
			commands = append(commands, words)
		}
		words = nil
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == '#' && !begun:
			endCommand()
			return commands
		case r == '|' || r == ';' || r == '&' || r == '(' || r == ')':
			endCommand()
		case r == ' ' || r == '\t':
			endWord()
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	endCommand()
	return commands
}

var assignment = regexp.MustCompile(`^[A-Z_]+=`)

func TestALineIsTakenApart(t *testing.T) {
	for line, want := range map[string]string{
		"jobledger get jobs -A   # all of them":            "jobledger,get,jobs,-A",
		"(cd deploy && kustomize edit set image a=b:v0.1)": "cd,deploy;kustomize,edit,set,image,a=b:v0.1",
		"DEMO=/tmp/x": "",
		`until kubectl logs x | grep -o 'drained: left'; do sleep 5; done`: "kubectl,logs,x;grep,-o,drained: left;sleep,5",
		`subscribe --exec './bill.sh "$JOB"'`:                              `subscribe,--exec,./bill.sh "$JOB"`,
	} {
		var got []string
		for _, words := range simple(line) {
			got = append(got, strings.Join(words, ","))
		}
		if strings.Join(got, ";") != want {
			t.Errorf("%s: %q, want %q", line, strings.Join(got, ";"), want)
		}
	}
}
