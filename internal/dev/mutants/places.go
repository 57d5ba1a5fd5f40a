package main

import (
	"fmt"
	"go/ast"
	"go/token"
)

// file makes the mutants of every declaration of the file.
func (w *writer) file() {
	for _, d := range w.source.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				w.function, w.doc = nameOf(d), d.Doc
				w.visit(d.Body)
			}
		case *ast.GenDecl:
			w.function, w.doc = "", d.Doc
			w.lists(d)
		}
	}
}

// nameOf returns the name of a function; for a method, with its receiver's type in front.
func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	switch generic := t.(type) {
	case *ast.IndexExpr:
		t = generic.X
	case *ast.IndexListExpr:
		t = generic.X
	}
	return t.(*ast.Ident).Name + "." + d.Name.Name
}

// lists makes mutants of package variables that are slices: an entry is skipped, or swapped with the next one.
func (w *writer) lists(d *ast.GenDecl) {
	for _, s := range d.Specs {
		value, ok := s.(*ast.ValueSpec)
		if !ok || len(value.Values) != 1 {
			continue
		}
		list, ok := value.Values[0].(*ast.CompositeLit)
		if !ok || len(list.Elts) == 0 {
			continue
		}
		if array, ok := list.Type.(*ast.ArrayType); !ok || array.Len != nil {
			continue
		}
		w.function = value.Names[0].Name
		first := 0
		for k, e := range list.Elts {
			id := w.mutant(e, "entry left out: %s", short(w.text(e)))
			if k == 0 {
				first = id
			}
		}
		for k := range list.Elts[1:] {
			w.mutant(list.Elts[k], "entry after the next: %s", short(w.text(list.Elts[k])))
		}
		w.wrap(list, fmt.Sprintf("mutantList(%d, ", first), ")")
	}
}

// visit makes the mutants of a function's body. A condition, such as that of an if, is changed as a whole there; the
// method condition then changes its operands, too.
func (w *writer) visit(body ast.Node) {
	ast.PreorderStack(body, nil, func(n ast.Node, stack []ast.Node) bool {
		w.around = w.around[:0]
		for _, outer := range append(stack, n) {
			if _, block := outer.(*ast.BlockStmt); block {
				continue
			}
			if _, statement := outer.(ast.Stmt); statement {
				w.around = append(w.around, outer)
			}
		}
		switch n := n.(type) {
		case *ast.BlockStmt:
			w.statements(n.List)
		case *ast.CaseClause:
			w.statements(n.Body)
		case *ast.CommClause:
			w.statements(n.Body)
		case *ast.IfStmt:
			w.condition(n.Cond, true, true)
		case *ast.ForStmt:
			if n.Cond != nil {
				// The condition is never made always true: the loop would then not end before the time limit.
				w.condition(n.Cond, false, true)
			}
		case *ast.SwitchStmt:
			if n.Tag == nil {
				for _, c := range n.Body.List {
					w.around = append(w.around, c)
					for _, e := range c.(*ast.CaseClause).List {
						w.condition(e, true, true)
					}
				}
			}
		case *ast.ReturnStmt:
			w.values(n.Results)
		case *ast.AssignStmt:
			w.values(n.Rhs)
		case *ast.KeyValueExpr:
			w.values([]ast.Expr{n.Value})
		case *ast.CallExpr:
			w.call(n)
		case *ast.BinaryExpr:
			w.binary(n)
		}
		return true
	})
}

func (w *writer) values(all []ast.Expr) {
	for _, e := range all {
		w.condition(e, true, true)
	}
}

// condition makes mutants of a condition: always true (toTrue), and always false (toFalse). For a && b it makes each
// operand true, and the whole false. For a || b it makes each operand false, and the whole true; this shows more than
// changing the whole twice. Operands are treated like conditions.
func (w *writer) condition(e ast.Expr, toTrue, toFalse bool) {
	if !w.pkg.isBool(e) {
		return
	}
	op := joined(e)
	text := short(w.text(e))
	before, after := "", ""
	if toTrue && op != token.LAND {
		before, after = "(", fmt.Sprintf(" || mutant(%d))", w.mutant(e, "forced true: %s", text))
	}
	if toFalse && op != token.LOR {
		before, after = "("+before, after+fmt.Sprintf(" && !mutant(%d))", w.mutant(e, "forced false: %s", text))
	}
	if before != "" {
		w.wrap(e, before, after)
	}
	w.operands(e, op)
}

// joined returns the operator, && or ||, with which an expression joins two conditions; ILLEGAL if it is no such
// expression.
func joined(e ast.Expr) token.Token {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return joined(e.X)
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			return e.Op
		}
	}
	return token.ILLEGAL
}

func (w *writer) operands(e ast.Expr, op token.Token) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		w.operands(e.X, op)
	case *ast.BinaryExpr:
		if op == token.ILLEGAL {
			return
		}
		for _, operand := range []ast.Expr{e.X, e.Y} {
			if joined(operand) == op {
				w.operands(operand, op)
			} else {
				w.condition(operand, op == token.LAND, op == token.LOR)
			}
		}
	}
}

// binary makes mutants of an operator: a comparison decides the other way for equal numbers, and +, - and * lose their
// right operand.
func (w *writer) binary(e *ast.BinaryExpr) {
	x, y := w.text(e.X), w.text(e.Y)
	switch e.Op {
	case token.LSS, token.GTR:
		if w.pkg.isNumber(e.X) || w.pkg.isNumber(e.Y) {
			w.wrap(e, "(", fmt.Sprintf(" || (%s) == (%s) && mutant(%d))", x, y, w.mutant(e, "equal too: %s", short(w.text(e)))))
		}
	case token.LEQ, token.GEQ:
		if w.pkg.isNumber(e.X) || w.pkg.isNumber(e.Y) {
			w.wrap(e, "(", fmt.Sprintf(" && !((%s) == (%s) && mutant(%d)))", x, y, w.mutant(e, "not when equal: %s", short(w.text(e)))))
		}
	case token.ADD, token.SUB, token.MUL:
		if w.pkg.isNumber(e) {
			w.wrap(e, fmt.Sprintf("mutantOther(%d, ", w.mutant(e, "only the left: %s", short(w.text(e)))), ", "+x+")")
		}
	}
}

// call makes mutants of calls: of cmp.Or, the entries and their order; of min and max of two numbers, one of the
// numbers.
func (w *writer) call(e *ast.CallExpr) {
	switch fun := w.text(e.Fun); {
	case fun == "cmp.Or":
		none := map[bool]string{true: "0", false: `""`}[w.pkg.isNumber(e)]
		if none != "0" && !w.pkg.isString(e) {
			return
		}
		for k, arg := range e.Args {
			w.wrap(arg, fmt.Sprintf("mutantOther(%d, ", w.mutant(arg, "entry left out: %s", short(w.text(arg)))), ", "+none+")")
			if k > 0 {
				id := w.mutant(arg, "entry before the last: %s", short(w.text(arg)))
				before := e.Args[k-1]
				w.wrap(before, fmt.Sprintf("mutantOther(%d, ", id), ", "+w.text(arg)+")")
				w.wrap(arg, fmt.Sprintf("mutantOther(%d, ", id), ", "+w.text(before)+")")
			}
		}
	case (fun == "min" || fun == "max") && len(e.Args) == 2:
		for _, arg := range e.Args {
			if w.pkg.isNumber(arg) {
				w.wrap(e, fmt.Sprintf("mutantOther(%d, ", w.mutant(e, "only %s of %s", short(w.text(arg)), short(w.text(e)))), ", "+w.text(arg)+")")
			}
		}
	}
}

// statements makes mutants that leave out one statement: a call, an assignment, continue or break.
func (w *writer) statements(all []ast.Stmt) {
	for _, s := range all {
		switch n := s.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt:
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				continue
			}
		case *ast.BranchStmt:
			if n.Tok != token.CONTINUE && n.Tok != token.BREAK {
				continue
			}
		default:
			continue
		}
		w.wrap(s, fmt.Sprintf("if !mutant(%d) { ", w.mutant(s, "left out: %s", short(w.text(s)))), " }")
		if n, ok := s.(*ast.AssignStmt); ok && n.Tok == token.ASSIGN && len(n.Lhs) > 1 && len(n.Lhs) == len(n.Rhs) {
			w.parts(n)
		}
	}
}

// parts makes mutants that leave out one value of an assignment such as a, b = x, y. It skips a variable whose type
// differs from that of its value, such as an interface, because the helper mutantPick needs one type for both.
func (w *writer) parts(n *ast.AssignStmt) {
	for k, value := range n.Rhs {
		left := w.text(n.Lhs[k])
		if left == "_" || !w.pkg.sameType(n.Lhs[k], value) {
			continue
		}
		w.wrap(value, fmt.Sprintf("mutantPick(%d, ", w.mutant(value, "left out: %s = %s", short(left), short(w.text(value)))), ", "+left+")")
	}
}
