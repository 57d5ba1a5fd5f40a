package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
)

// release is one version of jobledger, compiled for all platforms, with what goes into the image.
type release struct {
	name      string // name of the image
	version   string // version of the program; also the tag of the image
	commit    commit
	goVersion string
	programs  []program
}

// put writes a file into dir, and calls wrote with its name. It returns the name and the digest, for the statement of
// origin.
func put(dir, file string, content []byte, wrote func(file string)) (subject, error) {
	sum := sha256.Sum256(content)
	if err := os.WriteFile(filepath.Join(dir, file), content, 0o644); err != nil {
		return subject{}, err
	}
	wrote(file)
	return subject{Name: file, Digest: map[string]string{"sha256": hex.EncodeToString(sum[:])}}, nil
}

func (r release) stem() string { return "jobledger-" + r.version }

// writeBills writes the SBOM of each platform's program.
func (r release) writeBills(dir string, wrote func(file string)) (all []subject, err error) {
	for _, p := range r.programs {
		bill, err := r.bill(p)
		if err != nil {
			return nil, err
		}
		s, err := put(dir, r.stem()+"-"+p.arch+".cdx.json", bill, wrote)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// write writes the files of the release into dir, and calls wrote with the name of each. The statement of the image's
// origin comes last, because it has the digests of the other files.
func (r release) write(dir string, wrote func(file string)) error {
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
	archived, err := put(dir, r.stem()+".oci.tar", archive, wrote)
	if err != nil {
		return err
	}
	bills, err := r.writeBills(dir, wrote)
	if err != nil {
		return err
	}
	image := subject{Name: r.name + ":" + r.version, Digest: map[string]string{"sha256": digest.Hex}}
	statement, err := json.MarshalIndent(r.statement(append([]subject{image, archived}, bills...)), "", "  ")
	if err != nil {
		return err
	}
	_, err = put(dir, r.stem()+".intoto.json", append(statement, '\n'), wrote)
	return err
}
