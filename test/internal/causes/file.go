package causes

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Words maps the name of a situation to its series: the states that a kubelet wrote into the pod's status, one a line.
type Words map[string][]string

// ReadWords reads a file that Write wrote. If the file does not exist, it returns an empty Words and the error.
func ReadWords(path string) (Words, error) {
	all := Words{}
	text, err := os.ReadFile(path)
	if err != nil {
		return all, err
	}
	name := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch title, is := strings.CutPrefix(line, "# "); {
		case is:
			name = title
		case line == "":
		case name == "":
			return nil, fmt.Errorf("%s: %q stands before the first name", path, line)
		default:
			all[name] = append(all[name], line)
		}
	}
	return all, nil
}

// Write writes the series of all situations into a file, which ReadWords reads.
func (w Words) Write(path string) error {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(w)) {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "# %s\n", name)
		for _, line := range w[name] {
			b.WriteString(line + "\n")
		}
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// Add adds the lines of others that w does not have.
func (w Words) Add(others Words) {
	for name, lines := range others {
		for _, line := range lines {
			if !slices.Contains(w[name], line) {
				w[name] = append(w[name], line)
			}
		}
	}
}

// News returns the lines of others that w does not have.
func (w Words) News(others Words) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if news := without(others[name], w[name]); len(news) > 0 {
			all = append(all, fmt.Sprintf("%s\n    %s", name, strings.Join(news, "\n    ")))
		}
	}
	return all
}

// without returns those lines that are not in `but`.
func without(lines, but []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(but, line) })
}
