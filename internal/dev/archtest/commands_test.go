package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// switches lists the files that may distinguish commands by type, with the number of such switches in each.
var switches = map[string]int{
	"internal/dev/sim/joblog/answer.go": 1, // a simulated cluster that knows only four kinds
}

// TestCommandsAreToldApartByTheirTraits: the properties of each kind of command are in a table, of package events or of
// the package that needs them. A type switch over commands would be one more place to extend for each new command.
func TestCommandsAreToldApartByTheirTraits(t *testing.T) {
	commands := map[string]bool{}
	for traits := range events.AllTraits() {
		commands[traits.Name] = true
	}
	found := map[string]int{}
	for _, name := range goFiles(t) {
		rel, err := filepath.Rel(root, name)
		if err != nil {
			t.Fatal(err)
		}
		rel = filepath.ToSlash(rel)
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(rel, "proto/gen/") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSwitchStmt); ok && overTypes(s, file.Name.Name, commands) {
				if found[rel]++; found[rel] > switches[rel] {
					t.Errorf("%s: a type switch over commands: give them a trait, or a table by events.CommandKind", fset.Position(s.Pos()))
				}
			}
			return true
		})
	}
	for name, want := range switches {
		if found[name] < want {
			t.Errorf("%s has %d such switches, not %d: say so here", name, found[name], want)
		}
	}
}

// overTypes reports whether a type switch has a case for a pointer to one of these types of package events.
func overTypes(s *ast.TypeSwitchStmt, in string, names map[string]bool) bool {
	over := false
	for _, clause := range s.Body.List {
		for _, expr := range clause.(*ast.CaseClause).List {
			star, ok := expr.(*ast.StarExpr)
			if !ok {
				continue
			}
			switch x := star.X.(type) {
			case *ast.Ident:
				over = over || (in == "events" && names[x.Name])
			case *ast.SelectorExpr:
				over = over || (fmt.Sprint(x.X) == "events" && names[x.Sel.Name])
			}
		}
	}
	return over
}
