package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// readers are the packages that answer from the readable part of a log.
var readers = []string{
	"cmd/acting/", "cmd/jobledger/", "internal/read/duetimes/", "internal/read/explain/", "internal/read/history/", "internal/read/joblist/", "internal/read/plan/", "internal/read/serve/",
}

// asksForDamage lists the functions of readers that check for store.ErrCorrupt, with how each reports it.
var asksForDamage = map[string]string{
	"internal/read/history/source.go Beside":             "it notes the damage",
	"internal/read/joblist/page.go beside":               "it notes the damage; the page's error has it",
	"internal/read/joblist/verify.go Check":              "it is a note of what was not compared; verify has read the records before",
	"internal/read/joblist/crons.go failedRead":          "the row is made of what can be read; a reader of the CronJob's own records notes the damage",
	"internal/read/serve/handler.go damaged":             "the answer has the damage in its headers and its field",
	"internal/read/history/historytest/failing.go fails": "it is a test of how damage is told",
	"cmd/jobledger/replay.go playRecords":                "the command ends with the error",
	"cmd/jobledger/replay.go verifyFirst":                "it prints each damage, and the command fails",
	"cmd/jobledger/verify.go runVerify":                  "it prints each damage, and the command fails",
	"internal/read/serve/frame.go declarations":          "the class by which a client knows the error",
}

// readsUnnoted lists the functions that read a log through a history.Local that notes no damage by itself.
var readsUnnoted = map[string]string{
	"internal/read/joblist/fold.go history": "its log is a store.Noting",
}

// TestNobodyGoesOnBesideDamageSilently: a reader that continues after an unreadable part calls Source.Beside, which
// notes the damage for the answer. Its own errors.Is(err, store.ErrCorrupt) would report nothing, and neither would a
// history.Local without a place for notes.
func TestNobodyGoesOnBesideDamageSilently(t *testing.T) {
	looked := 0
	product(t, func(path string, file *ast.File) {
		if !slices.ContainsFunc(readers, func(dir string) bool { return strings.HasPrefix(path, dir) }) {
			return
		}
		looked++
		for _, d := range file.Decls {
			where := path + " declarations"
			if f, is := d.(*ast.FuncDecl); is {
				where = path + " " + f.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.SelectorExpr:
					if selects(x, "store", "ErrCorrupt") && asksForDamage[where] == "" {
						t.Errorf("%s: it looks for store.ErrCorrupt itself: ask Source.Beside, which notes the damage, or say in this test how it is reported", where)
					}
				case *ast.CompositeLit:
					if s, is := x.Type.(*ast.SelectorExpr); is && selects(s, "history", "Local") && !hasField(x, "Damage") && readsUnnoted[where] == "" {
						t.Errorf("%s: a history.Local without Damage: nobody hears of what it goes on beside", where)
					}
				}
				return true
			})
		}
	})
	if looked < 50 {
		t.Errorf("only %d files read logs", looked)
	}
}

// selects reports whether a selector means the given name of a package.
func selects(s *ast.SelectorExpr, pkg, name string) bool {
	x, is := s.X.(*ast.Ident)
	return is && x.Name == pkg && s.Sel.Name == name
}

func hasField(l *ast.CompositeLit, name string) bool {
	return slices.ContainsFunc(l.Elts, func(e ast.Expr) bool {
		kv, is := e.(*ast.KeyValueExpr)
		if !is {
			return false
		}
		key, is := kv.Key.(*ast.Ident)
		return is && key.Name == name
	})
}
