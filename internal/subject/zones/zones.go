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

// Rules are the rules of one time zone, as the database has them.
type Rules struct {
	Name string
	TZif []byte // RFC 9636; time.LoadLocationFromTZData reads it
	Hash string // hash of TZif
}

// open reads the directory of the embedded database, once.
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

// Find returns the rules of the time zone with that name; ok is false if the database lacks it.
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

// Hash returns the hash of a zone's rules.
func Hash(tzif []byte) string {
	sum := sha256.Sum256(tzif)
	return hex.EncodeToString(sum[:8])
}

// Version returns the hash of the whole database, which tells versions apart.
func Version() string { return Hash(database) }

// Names returns the zones of the database, sorted.
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
