package archtest

import (
	"go/ast"
	"go/build/constraint"
	"go/types"
	"path/filepath"
	"slices"
	"testing"
)

// Bounds that may only fall: the number of files of cmd/jobledger (one for each reading command; a new command adds
// one), of methods of cli.CLI, and of files that the build tag reader leaves out or adds.
const (
	maxProgramFiles = 36
	maxCLIMethods   = 25
	maxReaderTags   = 1
)

// TestTheProgramIsFlagsAndPrinting: each command has a file of its name. Its logic beyond flags is in packages below.
func TestTheProgramIsFlagsAndPrinting(t *testing.T) {
	files, tagged := 0, []string{}
	product(t, func(name string, file *ast.File) {
		if filepath.ToSlash(filepath.Dir(name)) == "cmd/jobledger" {
			files++
		}
		if ofReader(file) {
			tagged = append(tagged, name)
		}
	})
	if files > maxProgramFiles {
		t.Errorf("cmd/jobledger has %d files, more than %d: what is no command belongs below", files, maxProgramFiles)
	}
	if len(tagged) > maxReaderTags {
		t.Errorf("the build tag reader stands in %v: the program without Kubernetes and NATS leaves out one file", tagged)
	}
	if len(tagged) == 0 || files == 0 {
		t.Error("the test is blind")
	}
	methods := types.NewMethodSet(types.NewPointer(typed(t)[path("./cmd/cli")].Scope().Lookup("CLI").Type()))
	if methods.Len() > maxCLIMethods {
		t.Errorf("cli.CLI has %d methods, more than %d", methods.Len(), maxCLIMethods)
	}
	t.Logf("%d files, %d methods of the CLI", files, methods.Len())
}

// ofReader reports whether the build tag reader decides about a file.
func ofReader(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, line := range group.List {
			if !constraint.IsGoBuild(line.Text) {
				continue
			}
			expr, err := constraint.Parse(line.Text)
			if err != nil {
				continue
			}
			var tags []string
			expr.Eval(func(tag string) bool { tags = append(tags, tag); return false })
			if slices.Contains(tags, "reader") {
				return true
			}
		}
	}
	return false
}
