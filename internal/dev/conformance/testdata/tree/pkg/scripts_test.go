package pkg

import (
	"path/filepath"
	"testing"
)

func TestScripts(t *testing.T) {
	_, _ = filepath.Glob("testdata/*.txt")
}
