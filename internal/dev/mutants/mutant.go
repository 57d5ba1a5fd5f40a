package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mutant is one small change of the code under test.
type mutant struct {
	id       int // number of the mutant, from 1
	file     string
	line     int
	pkg      string // directory of the package
	function string // name of the function with its receiver's type, or name of a list
	what     string // what is changed, in words and source text
	around   string // the first line of the statement around it
	shared   bool   // another mutant of the function makes the same change, so the name needs the statement around it
	nth      int    // number from 1; above 1 if earlier mutants have the same name
	section  int    // section of the Job contract; -1 if the code around the mutant cites no rule

	killed string // name of the suite (group of tests) that noticed the change; empty if none did
	waited bool   // that suite did not end in time: it waits forever, or the machine is too busy
	unseen bool   // no test runs the changed code in a state in which the change could matter
}

// name returns the name of a mutant in lists and in equivalent.txt. It contains no file or line, so it stays the same
// when code moves. If several mutants of a function have the same change, their names include the statement around
// them.
func (m *mutant) name() string {
	name := fmt.Sprintf("%s %s: %s", m.pkg, m.function, m.what)
	if m.shared {
		name += " in " + m.around
	}
	if m.nth > 1 {
		name += fmt.Sprintf(" (%d)", m.nth)
	}
	return name
}

var ruleID = regexp.MustCompile(`\bJ-(\d{3})\b`)

// sectionEnds holds the number of the last rule of each section of the Job contract, from section 0 on. Rule 30 is in
// section 2, because 21 < 30 <= 45.
var sectionEnds = []int{2, 21, 45, 68, 83, 102, 111, 126, 137, 144, 158, 171, 182, 193, 195, 205, 238, 248, 250, 258, 266, 267}

// sectionOf returns the section of the Job contract with the first rule that a text names; -1 for none.
func sectionOf(text string) int {
	m := ruleID.FindStringSubmatch(text)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1]) // no error is possible: ruleID matches three digits
	return slices.IndexFunc(sectionEnds, func(last int) bool { return n <= last })
}

// sections finds the section of the Job contract for a line of code. The section is that of the first rule named in
// the comment above or beside the line; if none, in the function's comment; if none, in the file's.
type sections struct {
	file int
	// by line of code: a comment behind code counts for its own line, any other comment for the next line
	lines map[int]int
}

func newSections(p *pkg, f *source) sections {
	s := sections{file: -1, lines: map[int]int{}}
	for _, group := range f.ast.Comments {
		section := sectionOf(group.Text())
		if section < 0 {
			continue
		}
		begin, about := p.offset(group.Pos()), p.fset.Position(group.End()).Line
		if line := f.text[bytes.LastIndexByte(f.text[:begin], '\n')+1 : begin]; len(bytes.TrimSpace(line)) == 0 {
			about++
		}
		s.lines[about] = section
		if s.file < 0 {
			s.file = section
		}
	}
	return s
}

func (s sections) at(line int, doc *ast.CommentGroup) int {
	if section, ok := s.lines[line]; ok {
		return section
	}
	if doc != nil {
		if section := sectionOf(doc.Text()); section >= 0 {
			return section
		}
	}
	return s.file
}

// short returns source text as one line of at most 90 characters.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 90 {
		text = string(r[:87]) + "..."
	}
	return text
}
