package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A test that fails because something took longer than a limit fails on a busy machine, too. A test should judge order,
// counts, records, or a control beside it in the same test; or it should run in a synctest bubble, where time is
// virtual.
//
// The check works by names, package by package:
//   - measured: time.Since, time.Until, a Sub of time.Now (in test/ any Sub, as all times there come from clocks), and
//     each variable, field or function that one of those is assigned to or returned from;
//   - judged: a measured value compared in the condition of an if that fails the test or returns an error;
//   - free: a comparison "measured < limit", a lower bound, which holds on every machine; and a comparison of two
//     measured values, if one is of a control.
//
// Code in a bubble is free: a function that calls synctest.Test, and a function that only such functions use.

// TestNoTestJudgesTheWallClock checks all tests, and all files of test/ and of packages that only tests use.
func TestNoTestJudgesTheWallClock(t *testing.T) {
	byPackage := map[string][]string{}
	for _, name := range goFiles(t) {
		rel, err := filepath.Rel(root, name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(filepath.ToSlash(rel), "test/") {
			byPackage[filepath.Dir(name)] = append(byPackage[filepath.Dir(name)], name)
		}
	}
	for _, names := range byPackage {
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range names {
			file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		real := strings.HasPrefix(names[0], filepath.Join(root, "test")+string(filepath.Separator))
		for _, pos := range judgedByWallClock(files, real) {
			t.Errorf("%s: a measured time is compared with a limit outside a synctest bubble", fset.Position(pos))
		}
	}
}

// TestWallClockIsFound shows which code the check above finds, and which it accepts.
func TestWallClockIsFound(t *testing.T) {
	for _, row := range []struct {
		name, code string
		want       int
	}{
		{"a limit", `func TestA(t *testing.T) { if time.Since(b) > limit { t.Error() } }`, 1},
		{"a limit, the other way round", `func TestA(t *testing.T) { if limit < time.Since(b) { t.Fatalf("") } }`, 1},
		{"a variable", `func TestA(t *testing.T) { d := time.Since(b); if d > limit { t.Error() } }`, 1},
		{"a variable of the if", `func TestA(t *testing.T) { if d := time.Since(b); ok && d >= limit { t.Error() } }`, 1},
		{"the slowest of some", `func TestA(t *testing.T) { d = max(d, time.Since(b)); if d > limit { t.Error() } }`, 1},
		{"Sub", `func TestA(t *testing.T) { if end.Sub(b) > limit { t.Error() } }`, 1},
		{"a field", `func (x *X) wait() { x.waits = append(x.waits, time.Since(b)) }
			func TestA(t *testing.T) { p99 := x.waits[99]; if p99 > limit { t.Error() } }`, 1},
		{"a function", `func took() time.Duration { return time.Since(b) }
			func TestA(t *testing.T) { if took() > limit { t.Error() } }`, 1},
		{"an error", `func wait() error { if time.Since(b) > limit { return errors.New("late") }; return nil }`, 1},
		{"as a truth", `func TestA(t *testing.T) { if (time.Since(b) < limit) != want { t.Error() } }`, 1},
		{"not", `func TestA(t *testing.T) { if !(time.Since(b) < limit) { t.Error() } }`, 1},
		{"a truth with a name", `func TestA(t *testing.T) { late := time.Since(b) > limit; if late { t.Error() } }`, 1},
		{"both ways", `func TestA(t *testing.T) { d := time.Since(b); if d < least || d > most { t.Error() } }`, 1},
		{"an instant", `func TestA(t *testing.T) { b := time.Now(); if end.Sub(b) > limit { t.Error() } }`, 1},
		{"equal", `func TestA(t *testing.T) { if time.Since(b) != limit { t.Error() } }`, 1},

		{"a lower bound", `func TestA(t *testing.T) { if d := time.Since(b); bad || d < limit { t.Error() } }`, 0},
		{"a lower bound, the other way round", `func TestA(t *testing.T) { if limit > time.Since(b) { t.Error() } }`, 0},
		{"a control beside it", `func TestA(t *testing.T) { d := time.Since(b); c := time.Since(b); if d > 2*c+limit { t.Error() } }`, 0},
		{"a count of units", `func TestA(t *testing.T) { n := int(end.Sub(b) / time.Minute); if n > limit { t.Error() } }`, 0},
		{"an argument", `func TestA(t *testing.T) { err := tell(time.Since(b)); if err != nil { t.Error() } }`, 0},
		{"no failure", `func TestA(t *testing.T) { if time.Since(b) > limit { t.Log(); break } }`, 0},
		{"told", `func TestA(t *testing.T) { t.Log(time.Since(b)); if n > limit { t.Error() } }`, 0},
		{"in a bubble", `func TestA(t *testing.T) { synctest.Test(t, func(t *testing.T) { if time.Since(b) > limit { t.Error() } }) }`, 0},
		{"of a bubble", `func TestA(t *testing.T) { synctest.Test(t, run) }
			func run(t *testing.T) { check(t) }
			func check(t *testing.T) { if time.Since(b) > limit { t.Error() } }`, 0},
		{"of a bubble and not", `func TestA(t *testing.T) { synctest.Test(t, check) }
			func TestB(t *testing.T) { check(t) }
			func check(t *testing.T) { if time.Since(b) > limit { t.Error() } }`, 1},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package x\n"+row.code, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(row.name, err)
		}
		if got := judgedByWallClock([]*ast.File{file}, true); len(got) != row.want {
			t.Errorf("%s: %d found, want %d", row.name, len(got), row.want)
		}
	}
}

// judgedByWallClock returns the places in the files of a package. With real, each time comes from a clock, so each Sub
// is measured.
func judgedByWallClock(files []*ast.File, real bool) (found []token.Pos) {
	functions := functionsOf(files)
	free := inBubbles(functions)
	shared := map[string]bool{} // fields and functions that hold a measured time, by name
	for grew := true; grew; {
		n := len(shared)
		for _, f := range functions {
			measuredIn(f, shared, real)
		}
		grew = len(shared) > n
	}
	for _, f := range functions {
		if free[f.Name.Name] {
			continue
		}
		m := measuredIn(f, shared, real)
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if x, ok := n.(*ast.IfStmt); ok && fails(x.Body) && m.judges(x.Cond, true) {
				found = append(found, x.Pos())
			}
			return true
		})
	}
	return found
}

func functionsOf(files []*ast.File) (functions []*ast.FuncDecl) {
	for _, file := range files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				functions = append(functions, f)
			}
		}
	}
	return functions
}

// inBubbles returns the functions that call synctest.Test, and the functions that only such functions use.
func inBubbles(functions []*ast.FuncDecl) map[string]bool {
	free, users := map[string]bool{}, map[string][]string{}
	for _, f := range functions {
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.SelectorExpr:
				if id, ok := x.X.(*ast.Ident); ok && id.Name == "synctest" {
					free[f.Name.Name] = true
				}
			case *ast.Ident:
				users[x.Name] = append(users[x.Name], f.Name.Name)
			}
			return true
		})
	}
	for grew := true; grew; {
		n := len(free)
		for _, f := range functions {
			used := slices.DeleteFunc(slices.Clone(users[f.Name.Name]), func(by string) bool { return by == f.Name.Name })
			if len(used) > 0 && !slices.ContainsFunc(used, func(by string) bool { return !free[by] }) {
				free[f.Name.Name] = true
			}
		}
		grew = len(free) > n
	}
	return free
}

// measured holds the names of measured times, in one function and in the package, and the names of instants of the
// clock.
type measured struct {
	local, shared, instants map[string]bool
	real                    bool
}

// measuredIn follows the assignments of a function. It adds to shared the fields that get a measured time, and the
// function's name if it returns one.
func measuredIn(f *ast.FuncDecl, shared map[string]bool, real bool) measured {
	m := measured{map[string]bool{}, shared, map[string]bool{}, real}
	for grew := true; grew; {
		n := len(m.local) + len(shared)
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.AssignStmt:
				for i, left := range x.Lhs {
					if len(x.Rhs) != len(x.Lhs) {
						continue
					}
					if id, ok := left.(*ast.Ident); ok && isNow(x.Rhs[i]) {
						m.instants[id.Name] = true
					}
					if m.holds(x.Rhs[i]) {
						m.names(left)
					}
				}
			case *ast.ValueSpec:
				for i, value := range x.Values {
					if m.holds(value) {
						m.names(x.Names[i])
					}
				}
			case *ast.ReturnStmt:
				for _, result := range x.Results {
					if m.holds(result) && returnsDuration(f) {
						shared[f.Name.Name+"()"] = true
					}
				}
			}
			return true
		})
		grew = len(m.local)+len(shared) > n
	}
	return m
}

func returnsDuration(f *ast.FuncDecl) bool {
	if f.Type.Results == nil {
		return false
	}
	return slices.ContainsFunc(f.Type.Results.List, func(r *ast.Field) bool {
		sel, ok := r.Type.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "Duration"
	})
}

func (m measured) names(left ast.Expr) {
	switch x := left.(type) {
	case *ast.Ident:
		m.local[x.Name] = x.Name != "err" // an error result of a function that shares its name with a measuring one
	case *ast.SelectorExpr:
		m.shared[x.Sel.Name] = true
	case *ast.IndexExpr:
		m.names(x.X)
	}
}

// holds reports whether an expression is a measured time, is computed from one, or compares one.
func (m measured) holds(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.Ident:
			found = found || m.local[x.Name]
		case *ast.SelectorExpr:
			found = found || m.shared[x.Sel.Name]
		case *ast.CallExpr:
			found = found || m.measures(x)
			switch f := x.Fun.(type) {
			case *ast.Ident:
				return !found && slices.Contains([]string{"max", "min", "append", "float64"}, f.Name)
			case *ast.SelectorExpr: // a method of a time, such as Round or Seconds
				found = found || f.Sel.Name != "Add" && m.holds(f.X)
				return false
			}
		}
		return !found
	})
	return found
}

func (m measured) measures(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return m.shared[f.Name+"()"]
	case *ast.SelectorExpr:
		name := f.Sel.Name
		if id, ok := f.X.(*ast.Ident); ok && id.Name == "time" {
			return name == "Since" || name == "Until"
		}
		if name == "Sub" && len(call.Args) == 1 {
			return m.real || m.isInstant(f.X) || m.isInstant(call.Args[0])
		}
		return m.shared[name+"()"]
	}
	return false
}

func (m measured) isInstant(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && m.instants[id.Name] || isNow(e)
}

func isNow(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "Now" {
		return false
	}
	pkg, ok := f.X.(*ast.Ident)
	return ok && pkg.Name == "time"
}

// judges reports whether a condition compares a measured time, except as a lower bound. A comparison is a lower bound
// only if plain is true: the condition holds when the comparison does.
func (m measured) judges(cond ast.Expr, plain bool) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return m.judges(x.X, plain)
	case *ast.UnaryExpr:
		return m.judges(x.X, false)
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND, token.LOR:
			return m.judges(x.X, plain) || m.judges(x.Y, plain)
		}
		left, right := m.holds(x.X), m.holds(x.Y)
		switch x.Op {
		case token.LSS, token.LEQ:
			return right && !left || left && !right && !plain
		case token.GTR, token.GEQ:
			return left && !right || right && !left && !plain
		default:
			return left != right || m.judges(x.X, false) || m.judges(x.Y, false)
		}
	case *ast.Ident, *ast.SelectorExpr:
		return m.holds(x) // the result of an earlier comparison
	}
	return false
}

// fails reports whether a block fails the test or returns an error.
func fails(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return !found
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			id, _ := sel.X.(*ast.Ident)
			switch name := sel.Sel.Name; name {
			case "Error", "Fatal", "Fatalf", "Fail", "FailNow":
				found = true
			case "Errorf":
				found = true // also fmt.Errorf
			case "New":
				found = found || id != nil && id.Name == "errors"
			}
		}
		return !found
	})
	return found
}
