package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
)

// release is one version of the program for all platforms.
type release struct {
	name      string // of the image
	version   string // of the program, and the tag of the image
	commit    commit
	goVersion string
	programs  []program
}

// write puts the files of the release into dir, and names each to wrote. The statement comes last: it has the digests of the others.
func (r release) write(dir string, wrote func(file string)) error {
	var subjects []subject
	put := func(file string, content []byte) error {
		sum := sha256.Sum256(content)
		subjects = append(subjects, subject{Name: file, Digest: map[string]string{"sha256": hex.EncodeToString(sum[:])}})
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o644); err != nil {
			return err
		}
		wrote(file)
		return nil
	}

	stem := "jobledger-" + r.version
	index, err := r.index()
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	archive, err := archiveOf(index, r.name+":"+r.version, r.commit.time)
	if err != nil {
		return err
	}
	if err := put(stem+".oci.tar", archive); err != nil {
		return err
	}
	for _, p := range r.programs {
		bill, err := r.bill(p)
		if err != nil {
			return err
		}
		if err := put(stem+"-"+p.arch+".cdx.json", bill); err != nil {
			return err
		}
	}
	image := subject{Name: r.name + ":" + r.version, Digest: map[string]string{"sha256": digest.Hex}}
	statement, err := json.MarshalIndent(r.statement(append([]subject{image}, subjects...)), "", "  ")
	if err != nil {
		return err
	}
	return put(stem+".intoto.json", append(statement, '\n'))
}
