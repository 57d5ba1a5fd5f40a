package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	pageLink   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	named      = regexp.MustCompile(`<a name="([^"]+)">`)
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInSlugs = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	fence      = regexp.MustCompile("(?ms)^```.*?^```")
)

// TestLinksLead: each link in a page of ours leads to an existing file, and to an existing heading.
func TestLinksLead(t *testing.T) {
	for _, page := range filesOf(t, ".md") {
		for _, m := range pageLink.FindAllStringSubmatch(read(t, page), -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") {
				continue
			}
			target := page
			if to != "" {
				target = filepath.Join(filepath.Dir(page), to)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, m[1])
			} else if anchor != "" && !slugs(read(t, target))[anchor] {
				t.Errorf("%s: %s has no heading for the link %s", page, target, m[1])
			}
		}
	}
}

// TestReadmeNamesEveryPage: README.md links every page under docs.
func TestReadmeNamesEveryPage(t *testing.T) {
	readme := read(t, filepath.Join(root, "README.md"))
	for _, pattern := range []string{"docs/*.md", "docs/contract/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		for _, page := range found {
			name := strings.TrimSuffix(pattern, "*.md") + filepath.Base(page)
			if !strings.Contains(readme, fmt.Sprintf("](%s)", name)) {
				t.Errorf("README.md does not link %s", name)
			}
		}
	}
}

// TestSecurityNamesEveryRole: docs/security.md links each role of deploy.
func TestSecurityNamesEveryRole(t *testing.T) {
	page := read(t, filepath.Join(root, "docs/security.md"))
	roles, err := filepath.Glob(filepath.Join(root, "deploy/*/clusterrole.yaml"))
	if err != nil || len(roles) < 5 {
		t.Fatalf("the roles are %v, %v", roles, err)
	}
	for _, role := range roles {
		if name := filepath.Base(filepath.Dir(role)); !strings.Contains(page, fmt.Sprintf("](../deploy/%s/clusterrole.yaml)", name)) {
			t.Errorf("docs/security.md does not name the role %s", name)
		}
	}
}

// slugs returns the anchors of a page: of its headings, as GitHub makes them, and the explicit ones.
func slugs(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		all[m[1]] = true
	}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		slug := notInSlugs.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), "")
		all[strings.ReplaceAll(slug, " ", "-")] = true
	}
	return all
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
