package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// goFile collects what the tests in one Go file assert about rules, from comments and table rows.
func (h *harvested) goFile(p *testPackage, f *testFile) {
	ways := map[*decl]string{}
	for _, group := range f.ast.Comments {
		h.comment(p, f, group, ways)
	}
	for _, d := range p.decls {
		if d.file == f {
			h.rows(p, d, ways[d])
		}
	}
}

func (h *harvested) comment(p *testPackage, f *testFile, group *ast.CommentGroup, ways map[*decl]string) {
	d := p.declAt(f, group)
	var text strings.Builder
	for _, c := range group.List {
		line := strings.TrimPrefix(strings.TrimPrefix(c.Text, "//"), " ")
		if way, ok := strings.CutPrefix(c.Text, "//conformance:fact "); ok {
			ways[d], line = way, ""
		}
		text.WriteString(line + "\n")
	}
	for _, c := range citations(text.String()) {
		where := p.where(group.Pos())
		if d == nil {
			h.complain(where, "%s is cited outside a test", c.rules[0])
			continue
		}
		test := p.testOf(d)
		if test == nil {
			h.complain(where, "%s is cited by what no test gets to", c.rules[0])
			continue
		}
		name := test.names[0]
		if row := rowAt(p, d, group); row != "" {
			name += "/" + row
		}
		h.add(where, c, test.file.name, name)
	}
}

func (p *testPackage) where(pos token.Pos) string {
	at := p.fset.Position(pos)
	return fmt.Sprintf("%s:%d", at.Filename, at.Line)
}

// rows collects what table rows and names passed to t.Run assert about rules.
func (h *harvested) rows(p *testPackage, d *decl, way string) {
	ast.Inspect(d.node, func(n ast.Node) bool {
		var c citation
		switch n := n.(type) {
		case *ast.CompositeLit:
			c = rowCitation(n)
		case *ast.KeyValueExpr: // the key of a map's entry may be a sentence that names rules
			if s, ok := literal(n.Key); ok {
				c, _ = inSentence(s)
			}
		case *ast.CallExpr:
			if called, ok := n.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "Run" && len(n.Args) == 2 {
				if s, ok := literal(n.Args[0]); ok {
					c, _ = inSentence(s)
				}
			}
		}
		if len(c.rules) == 0 {
			return true
		}
		test := p.testOf(d)
		if test == nil {
			h.complain(p.where(n.Pos()), "%s is cited in a table that no test reads", c.rules[0])
			return true
		}
		if way != "" {
			c.says = strings.Replace(way, "%s", c.says, 1)
		}
		h.add(p.where(n.Pos()), c, test.file.name, test.names[0])
		return true
	})
}

// rowCitation returns the rules that a table row names, with the row's sentence. The rules are in a field of their own,
// perhaps followed by a comma and more text, or at the end of the row's name.
func rowCitation(row *ast.CompositeLit) citation {
	name := rowName(row)
	if name == "" {
		return citation{} // a row without a sentence asserts nothing: it may only list what a test expects
	}
	c, _ := inSentence(name)
	for _, e := range row.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		s, ok := literal(e)
		if !ok || s == name {
			continue
		}
		if list := anyRules.FindString(s); list != "" && (list == s || strings.HasPrefix(s, list+", ")) {
			c.rules = append(c.rules, expand(list)...)
		}
	}
	c.says = bare(name)
	return c
}

// rowName returns the sentence of a table row: its field name or sentence, else its first string that has a space and
// is no list of rules.
func rowName(row *ast.CompositeLit) string {
	for _, e := range row.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if ok {
			if key, ok := kv.Key.(*ast.Ident); !ok || !slices.Contains([]string{"name", "sentence"}, key.Name) {
				continue
			}
			e = kv.Value
		}
		if s, ok := literal(e); ok && strings.Contains(s, " ") && !only.MatchString(s) {
			return s
		}
	}
	return ""
}

// rowAt returns the name of the innermost table row that contains the comment or follows it; "" for none.
func rowAt(p *testPackage, d *decl, c *ast.CommentGroup) (name string) {
	from, to := p.fset.Position(c.Pos()).Line, p.fset.Position(c.End()).Line
	ast.Inspect(d.node, func(n ast.Node) bool {
		if row, ok := n.(*ast.CompositeLit); ok {
			begin, end := p.fset.Position(row.Pos()).Line, p.fset.Position(row.End()).Line
			if s := rowName(row); s != "" && (begin == to+1 || (begin <= from && from <= end)) {
				name = bare(s)
			}
		}
		return true
	})
	return name
}

func literal(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// script collects what the comments of a file under testdata assert about rules. They belong to the first test of the
// package that names the file, its directory, or a pattern that matches it.
func (h *harvested) script(root string, p *testPackage, dir, file string) error {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return err
	}
	var said strings.Builder
	for _, line := range strings.Split(string(text), "\n") {
		comment, _ := strings.CutPrefix(line, "#")
		if comment == line {
			comment = ""
		}
		said.WriteString(comment + "\n")
	}
	all := citations(said.String())
	if len(all) == 0 {
		return nil
	}
	own := strings.TrimPrefix(file, dir+"/")
	test, above := p.testOfFile(own)
	if test == nil {
		h.complain(file, "%s is cited in a file that no test reads", all[0].rules[0])
		return nil
	}
	name := test.names[0]
	if above != own {
		name += "/" + strings.TrimSuffix(strings.TrimPrefix(own, above+"/"), path.Ext(file))
	}
	for _, c := range all {
		h.add(file, c, file, name)
	}
	return nil
}

// testOfFile returns the first test that names the file, its directory, or a pattern that matches it. above is the part
// of the path that the test names exactly: the whole path, or the directories before the wildcard.
func (p *testPackage) testOfFile(file string) (test *decl, above string) {
	for _, d := range p.decls {
		if !d.test {
			continue
		}
		found := p.reaches(d, func(r *decl) bool {
			return slices.ContainsFunc(r.texts, func(s string) bool {
				matched, err := path.Match(s, file)
				above = s
				if star := strings.IndexAny(s, "*?["); star >= 0 {
					above = path.Dir(s[:star] + "x")
				}
				return err == nil && matched || s == path.Dir(file)
			})
		})
		if found {
			return d, above
		}
	}
	return nil, ""
}
