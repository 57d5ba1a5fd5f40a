package installed

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/test/binaries"
)

// block is a shell block of a page with a command that installs, changes or uninstalls.
type block struct {
	page     string
	commands []string
}

func (b block) String() string { return b.page + ": " + strings.Join(b.commands, "; ") }

// helm reports whether the block is for users of the chart; else it is for users of the manifests.
func (b block) helm() bool {
	return slices.ContainsFunc(b.commands, func(c string) bool { return strings.HasPrefix(c, "helm ") })
}

// story are the pages with blocks to run, in this order.
var story = []string{"docs/install.md", "docs/upgrade.md", "docs/uninstall.md"}

// elsewhere are the pages with blocks that no test here can run, and why.
var elsewhere = map[string]string{
	"docs/ha.md": "it takes two nodes; internal/dev/manifests renders the chart with its values",
}

var (
	fence    = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```")
	sentence = regexp.MustCompile("`([^`\n]+)`")
	// installs matches a complete command with Helm or kustomize, not only its verb.
	installs = regexp.MustCompile(`(^|[(&|;] *)(bin/)?(helm|kustomize) [a-z-]+ \S|kubectl\b.* (-k|--kustomize)[ =]\S`)
)

// blocksOf returns the blocks of a page, and the commands in its sentences.
func blocksOf(page, text string) (blocks []block, named []string) {
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		b := block{page: page}
		for line := range strings.Lines(strings.ReplaceAll(m[2], "\\\n", "")) {
			command, prompted := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			if command != "" && (prompted || m[1] != "console") {
				b.commands = append(b.commands, command)
			}
		}
		if slices.ContainsFunc(b.commands, installs.MatchString) {
			blocks = append(blocks, b)
		}
	}
	for _, m := range sentence.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		if installs.MatchString(m[1]) {
			named = append(named, m[1])
		}
	}
	return blocks, named
}

// documented returns the blocks of README.md and all pages of docs and examples, in the order of the story. A block on
// another page is an error, because nothing would run it. So is a command in a sentence that is in no block.
func documented() (all []block, err error) {
	root, err := binaries.FindRoot()
	if err != nil {
		return nil, err
	}
	named := map[string]string{} // command → page
	read := func(path string) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		page, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if elsewhere[page] != "" {
			return nil
		}
		blocks, alsoNamed := blocksOf(page, string(text))
		for _, command := range alsoNamed {
			named[command] = page
		}
		if len(blocks) > 0 && !slices.Contains(story, page) {
			return fmt.Errorf("no test runs what %s shows", blocks[0])
		}
		all = append(all, blocks...)
		return nil
	}
	if err := read(filepath.Join(root, "README.md")); err != nil {
		return nil, err
	}
	for _, dir := range []string{"docs", "examples"} {
		if err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".md" {
				return err
			}
			return read(path)
		}); err != nil {
			return nil, err
		}
	}
	for command, page := range named {
		if !slices.ContainsFunc(all, func(b block) bool { return slices.Contains(b.commands, command) }) {
			return nil, fmt.Errorf("no test runs what a sentence of %s names: %s", page, command)
		}
	}
	slices.SortStableFunc(all, func(a, b block) int { return cmp.Compare(slices.Index(story, a.page), slices.Index(story, b.page)) })
	return all, nil
}

var (
	imageName = regexp.MustCompile(`(?:image\.repository=|jobledger=)([\w.-]+/[\w./-]+)`)
	imageTags = regexp.MustCompile(`(?:image\.tag=|jobledger:)(v[\w.-]+)`)
)

// images returns the name and the tags of the image in the blocks.
func images(blocks []block) (name string, tags []string) {
	for _, b := range blocks {
		text := strings.Join(b.commands, "\n")
		for _, m := range imageName.FindAllStringSubmatch(text, -1) {
			name = m[1]
		}
		for _, m := range imageTags.FindAllStringSubmatch(text, -1) {
			tags = append(tags, m[1])
		}
	}
	slices.Sort(tags)
	return name, slices.Compact(tags)
}

// TestEachWayIsDocumented: with Helm and with the manifests, the pages say how to install, upgrade and uninstall.
func TestEachWayIsDocumented(t *testing.T) {
	all, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range story {
		for _, helm := range []bool{false, true} {
			if !slices.ContainsFunc(all, func(b block) bool { return b.page == page && b.helm() == helm }) {
				t.Errorf("%s shows nothing with Helm: %t", page, helm)
			}
		}
	}
	if name, tags := images(all); name == "" || len(tags) < 2 {
		t.Errorf("the image is %q, in the versions %v", name, tags)
	}
}

func TestABlockIsFound(t *testing.T) {
	text := "Try `helm install`, or `helm install x deploy/chart`.\n```sh\nmake\n```\n1. so:\n\n   ```sh\n   helm upgrade x \\\n     --set a=b\n   make\n   ```\n" +
		"```console\n$ kubectl delete -k deploy\nnamespace deleted\n```\n```sh\n(cd deploy && kustomize edit set image a=b)\n```\n"
	blocks, named := blocksOf("p", text)
	want := "[p: helm upgrade x      --set a=b; make p: kubectl delete -k deploy p: (cd deploy && kustomize edit set image a=b)]"
	if got := fmt.Sprint(blocks); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("found %s", got)
	}
	if fmt.Sprint(named) != "[helm install x deploy/chart]" {
		t.Errorf("named are %q", named)
	}
}
