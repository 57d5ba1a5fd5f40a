package zones

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed" // the database
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed zoneinfo.zip
var database []byte

// Rules are what the database says of a zone.
type Rules struct {
	Name string
	TZif []byte // RFC 9636; time.LoadLocationFromTZData reads it
	Hash string // of TZif
}

// open reads the directory of the database once.
var open = sync.OnceValues(func() (map[string]*zip.File, error) {
	r, err := zip.NewReader(bytes.NewReader(database), int64(len(database)))
	if err != nil {
		return nil, fmt.Errorf("the time zone database of this program: %w", err)
	}
	files := map[string]*zip.File{}
	for _, f := range r.File {
		if !strings.HasSuffix(f.Name, "/") {
			files[f.Name] = f
		}
	}
	return files, nil
})

// Find is the rules of a zone; ok is false when the database does not have it.
func Find(name string) (r Rules, ok bool) {
	files, err := open()
	if err != nil {
		return Rules{}, false
	}
	f := files[name]
	if f == nil {
		return Rules{}, false
	}
	in, err := f.Open()
	if err != nil {
		return Rules{}, false
	}
	tzif, err := io.ReadAll(in)
	if err != nil {
		return Rules{}, false
	}
	if _, err := time.LoadLocationFromTZData(name, tzif); err != nil {
		return Rules{}, false
	}
	return Rules{Name: name, TZif: tzif, Hash: Hash(tzif)}, true
}

// Hash names rules by their content.
func Hash(tzif []byte) string {
	sum := sha256.Sum256(tzif)
	return hex.EncodeToString(sum[:8])
}

// Version names the database by its content.
func Version() string { return Hash(database) }

// Names are the zones of the database, sorted.
func Names() []string {
	files, err := open()
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
