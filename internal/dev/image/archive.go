package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// archiveOf returns the index as an OCI archive: a tar of the files of an OCI image layout, sorted by name. The archive
// contains the name of the image, and containerd imports it under that name.
func archiveOf(index v1.ImageIndex, name string, modified time.Time) ([]byte, error) {
	files := map[string][]byte{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}` + "\n")}
	add := func(digest v1.Hash, content []byte) { files["blobs/"+digest.Algorithm+"/"+digest.Hex] = content }

	raw, err := index.RawManifest()
	if err != nil {
		return nil, err
	}
	digest, err := index.Digest()
	if err != nil {
		return nil, err
	}
	add(digest, raw)
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, d := range manifest.Manifests {
		img, err := index.Image(d.Digest)
		if err != nil {
			return nil, err
		}
		if err := blobs(img, add); err != nil {
			return nil, err
		}
	}
	_, tag, _ := strings.Cut(name, ":")
	files["index.json"], err = json.Marshal(v1.IndexManifest{
		SchemaVersion: 2, MediaType: types.OCIImageIndex,
		Manifests: []v1.Descriptor{{
			MediaType: types.OCIImageIndex, Size: int64(len(raw)), Digest: digest,
			Annotations: map[string]string{"org.opencontainers.image.ref.name": tag, "io.containerd.image.name": familiar(name)},
		}},
	})
	if err != nil {
		return nil, err
	}
	return pack(files, modified)
}

// familiar returns the full name of an image, as containerd and a kubelet use it: a name without a registry belongs to
// docker.io/library.
func familiar(name string) string {
	registry, _, slash := strings.Cut(name, "/")
	switch {
	case !slash:
		return "docker.io/library/" + name
	case !strings.ContainsAny(registry, ".:") && registry != "localhost":
		return "docker.io/" + name
	}
	return name
}

// blobs passes the manifest, the config and the layers of an image to add.
func blobs(img v1.Image, add func(v1.Hash, []byte)) error {
	digest, err := img.Digest()
	if err != nil {
		return err
	}
	manifest, err := img.RawManifest()
	if err != nil {
		return err
	}
	add(digest, manifest)
	if digest, err = img.ConfigName(); err != nil {
		return err
	}
	config, err := img.RawConfigFile()
	if err != nil {
		return err
	}
	add(digest, config)
	layers, err := img.Layers()
	if err != nil {
		return err
	}
	for _, l := range layers {
		content, err := compressed(l)
		if err != nil {
			return err
		}
		if digest, err = l.Digest(); err != nil {
			return err
		}
		add(digest, content)
	}
	return nil
}

func compressed(l v1.Layer) ([]byte, error) {
	r, err := l.Compressed()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// pack returns a tar of files, sorted by name.
func pack(files map[string][]byte, modified time.Time) ([]byte, error) {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), ModTime: modified}); err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
