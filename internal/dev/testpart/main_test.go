package main

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
)

const listed = `TestA
TestB
BenchmarkC
FuzzD
ok  	example.com/one	0.002s
?   	example.com/none	[no test files]
TestDivided
TestE
ExampleF
ok  	example.com/two	0.003s
`

// TestPartsAreAll: each test is in exactly one part, except tests that divide themselves, which are in every part.
func TestPartsAreAll(t *testing.T) {
	everywhere := regexp.MustCompile(`^TestDivided$`)
	for of := 1; of < 8; of++ {
		count := map[string]int{}
		for n := 1; n <= of; n++ {
			for _, p := range choose(listed, n, of, everywhere) {
				for _, test := range p.tests {
					count[p.path+" "+test]++
				}
			}
		}
		want := map[string]int{
			"example.com/one TestA": 1, "example.com/one TestB": 1, "example.com/one FuzzD": 1,
			"example.com/two TestDivided": of, "example.com/two TestE": 1, "example.com/two ExampleF": 1,
		}
		if fmt.Sprint(count) != fmt.Sprint(want) {
			t.Errorf("%d parts have %v, want %v", of, count, want)
		}
	}
}

func TestWhatIsNoPart(t *testing.T) {
	for _, text := range []string{"", "1", "0/3", "4/3", "a/b"} {
		if _, _, err := parsePart(text); err == nil {
			t.Errorf("%q is a part", text)
		}
	}
	if n, of, err := parsePart("2/6"); n != 2 || of != 6 || err != nil {
		t.Errorf("2/6 is %d of %d: %v", n, of, err)
	}
}

func TestPackagesStandAtTheEnd(t *testing.T) {
	flags, packages := split([]string{"go", "test", "-timeout", "90m", "./integration", "./..."})
	if !slices.Equal(flags, []string{"go", "test", "-timeout", "90m"}) || !slices.Equal(packages, []string{"./integration", "./..."}) {
		t.Errorf("%q and %q", flags, packages)
	}
}
