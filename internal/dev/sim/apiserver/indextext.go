package apiserver

import (
	"fmt"
	"strconv"
	"strings"
)

// indexRange is a range of completion indexes, both ends included: "3-5" is {3, 5}.
type indexRange struct{ first, last int32 }

// parseIndexText parses a set of completion indexes, such as "0,2-4", as strictly as the API server (J-233). Elements
// are x or x-y with x < y, separated by commas. Indexes must increase and be below completions. Empty text is the empty
// set.
func parseIndexText(text string, completions int32) ([]indexRange, error) {
	if text == "" {
		return nil, nil
	}
	var out []indexRange
	next := int32(0) // indexes must ascend: the next one must be at least next
	for fragment := range strings.SplitSeq(text, ",") {
		first, last, dashed := strings.Cut(fragment, "-")
		if !dashed {
			last = first
		}
		x, err := parseIndex(first, completions)
		if err != nil {
			return nil, err
		}
		y, err := parseIndex(last, completions)
		if err != nil {
			return nil, err
		}
		if dashed && x >= y {
			return nil, fmt.Errorf("non-increasing order, previous: %d, current: %d", x, y)
		}
		if x < next {
			return nil, fmt.Errorf("non-increasing order, previous: %d, current: %d", next-1, x)
		}
		out = append(out, indexRange{x, y})
		next = y + 1
	}
	return out, nil
}

func parseIndex(text string, completions int32) (int32, error) {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("cannot convert string to integer for index: %q", text)
	case n < 0 || n >= int(completions):
		return 0, fmt.Errorf("too large index: %q", text)
	}
	return int32(n), nil
}

// IndexSet parses a set of completion indexes in a status, such as "0,2-4". It returns an error for text that the API
// server would refuse.
func IndexSet(text string, completions int32) (map[int32]bool, error) {
	ranges, err := parseIndexText(text, completions)
	if err != nil {
		return nil, err
	}
	set := map[int32]bool{}
	for _, r := range ranges {
		for i := r.first; i <= r.last; i++ {
			set[i] = true
		}
	}
	return set, nil
}

// overlap returns the first index that is in both lists, and whether there is one.
func overlap(a, b []indexRange) (int32, bool) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if first := max(a[i].first, b[j].first); first <= min(a[i].last, b[j].last) {
			return first, true
		}
		if a[i].last < b[j].last {
			i++
		} else {
			j++
		}
	}
	return 0, false
}
