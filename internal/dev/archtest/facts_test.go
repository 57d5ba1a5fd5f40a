package archtest

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// maxFactSwitches bounds the type switches over facts of the product. It only falls: a new kind of record has to be
// looked for in each of them, while a row of the table of facts (events/facts.go) is met once.
const maxFactSwitches = 79

func TestFactsAreToldApartInFewPlaces(t *testing.T) {
	facts := factTypes(t)
	if len(facts) < 30 {
		t.Fatalf("%d types of facts: the test is blind", len(facts))
	}
	var found []string
	files := map[string]bool{}
	product(t, func(path string, file *ast.File) {
		if strings.HasPrefix(path, "internal/dev/") || strings.HasPrefix(path, "events/observation/observationtest/") {
			return // only tests use them
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSwitchStmt); ok && overTypes(s, file.Name.Name, facts) {
				found, files[path] = append(found, fmt.Sprintf("%s: %d cases", path, len(s.Body.List))), true
			}
			return true
		})
	})
	t.Logf("%d switches over facts in %d files", len(found), len(files))
	if len(found) > maxFactSwitches {
		t.Errorf("%d switches over facts, more than %d:\n%s", len(found), maxFactSwitches, strings.Join(found, "\n"))
	}
}

// factTypes are the names of the types of package events that are facts of a record.
func factTypes(t *testing.T) map[string]bool {
	facts := map[string]bool{}
	product(t, func(_ string, file *ast.File) {
		if file.Name.Name != "events" {
			return
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != "facts" || f.Recv == nil {
				continue
			}
			if of, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
				facts[fmt.Sprint(of.X)] = true
			}
		}
	})
	return facts
}
