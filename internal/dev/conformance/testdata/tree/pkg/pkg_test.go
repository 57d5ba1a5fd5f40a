package pkg

import "testing"

// TestDoc checks a thing.
//
// J-001: the first rule holds
// over two lines.
// J-002, J-003: two rules hold together.
func TestDoc(t *testing.T) {}

// table is read by a helper.
//
//conformance:fact it is refused unless %s
var table = []struct{ rule, name string }{
	{"J-004", "all is well"},
}

func TestRows(t *testing.T) {
	for _, row := range []struct{ name string }{
		{"a row says it (J-004)"},
		// J-003: said beside a row.
		{"a row beside a comment"},
	} {
		t.Run(row.name, func(t *testing.T) { helper(t) })
	}
	t.Run("a subtest says it (J-001)", nil)
}

// helper checks that the second rule holds too (J-002, O-002, design §1, invariant 1).
func helper(t *testing.T) { _ = table }
