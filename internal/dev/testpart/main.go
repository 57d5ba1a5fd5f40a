package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

func main() {
	part := flag.String("part", "1/1", "which part of how many: n/N")
	each := flag.String("each", "^$", "tests that divide themselves, and are in every part")
	flag.Parse()
	if err := run(*part, *each, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "testpart:", err)
		os.Exit(1)
	}
}

func run(part, each string, command []string) error {
	n, of, err := parsePart(part)
	if err != nil {
		return err
	}
	everywhere, err := regexp.Compile(each)
	if err != nil {
		return err
	}
	flags, packages := split(command)
	if len(flags) < 2 || len(packages) == 0 {
		return fmt.Errorf("%q is no 'go test FLAGS PACKAGES'", strings.Join(command, " "))
	}
	list := exec.Command("go", append([]string{"test", "-vet=off", "-list", "."}, packages...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("list the tests: %w", err)
	}
	var failed error
	for _, p := range choose(string(out), n, of, everywhere) {
		args := append(append([]string{}, flags[1:]...), "-run", "^("+strings.Join(p.tests, "|")+")$", p.path)
		fmt.Printf("part %s: %s %s\n", part, flags[0], strings.Join(args, " "))
		test := exec.Command(flags[0], args...)
		test.Env = append(os.Environ(), "JOBLEDGER_PART="+part)
		test.Stdout, test.Stderr = os.Stdout, os.Stderr
		if err := test.Run(); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.path, err))
		}
	}
	return failed
}

func parsePart(text string) (n, of int, err error) {
	if _, err := fmt.Sscanf(text, "%d/%d", &n, &of); err != nil || n < 1 || n > of {
		return 0, 0, fmt.Errorf("part %q: want n/N, such as 2/6", text)
	}
	return n, of, nil
}

// split returns the command with its flags, and the packages at the end of the command line.
func split(command []string) (flags, packages []string) {
	end := len(command)
	for end > 0 && (strings.HasPrefix(command[end-1], ".") || strings.Contains(command[end-1], "/")) {
		end--
	}
	return command[:end], command[end:]
}

// chosen has the tests of one package that this part runs.
type chosen struct {
	path  string
	tests []string
}

// choose returns the tests of part n of several parts, by package. list is the output of 'go test -list': the tests of
// each package, followed by a line with its path. Tests that match everywhere are in every part.
func choose(list string, n, of int, everywhere *regexp.Regexp) (out []chosen) {
	var tests []string
	count := 0
	for line := range strings.Lines(list) {
		words := strings.Fields(line)
		switch {
		case len(words) == 1 && regexp.MustCompile(`^(Test|Fuzz|Example)`).MatchString(words[0]):
			if everywhere.MatchString(words[0]) {
				tests = append(tests, words[0])
				continue
			}
			if count++; (count-1)%of == n-1 {
				tests = append(tests, words[0])
			}
		case len(words) > 1 && words[0] == "ok":
			if len(tests) > 0 {
				out = append(out, chosen{words[1], tests})
			}
			tests = nil
		}
	}
	return out
}
