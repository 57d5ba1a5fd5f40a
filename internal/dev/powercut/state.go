package powercut

import (
	"hash/maphash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// State is the content of a directory. Names are relative to it, with slashes.
type State struct {
	Dirs  []string // directories, parents first
	Files map[string][]byte
}

// Read returns the content of a directory, with all directories and files below it.
func Read(root string) (State, error) {
	s := State{Files: map[string][]byte{}}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			s.Dirs = append(s.Dirs, name)
			return nil
		}
		s.Files[name], err = os.ReadFile(path)
		return err
	})
	return s, err
}

// Put writes the state into an existing, empty directory.
func (s State) Put(root string) error {
	for _, dir := range s.Dirs {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			return err
		}
	}
	for name, content := range s.Files {
		if err := os.WriteFile(filepath.Join(root, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

var seed = maphash.MakeSeed()

// Sum returns a hash of the state, to compare it with others in the same process.
func (s State) Sum() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, dir := range s.Dirs {
		_, _ = h.WriteString(dir + "\x00") // a hash never returns an error
	}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		_, _ = h.WriteString("\x00" + name + "\x00")
		_, _ = h.Write(s.Files[name])
	}
	return h.Sum64()
}
