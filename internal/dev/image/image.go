package main

import (
	"strconv"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// image returns the image of one platform: the program on an empty base.
func (r release) image(p program) (v1.Image, error) {
	l, err := layer(p.bytes, textOf(p.terms), r.commit.time)
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.Append(img, mutate.Addendum{
		Layer: l, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: r.commit.time}, CreatedBy: "make image"},
	})
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.Created, config.OS, config.Architecture = v1.Time{Time: r.commit.time}, "linux", p.arch
	config.Config = v1.Config{
		User:       strconv.Itoa(user) + ":" + strconv.Itoa(user),
		Entrypoint: []string{"/jobledger"},
		WorkingDir: logDir,
		// With this PATH, 'kubectl exec … -- jobledger …' finds the program, the only one in the image.
		Env:    []string{"PATH=/"},
		Labels: r.annotations(),
	}
	return mutate.ConfigFile(img, config)
}

// index returns an OCI index: one image for all platforms.
func (r release) index() (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range r.programs {
		img, err := r.image(p)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: p.arch}},
		})
	}
	return mutate.Annotations(index, r.annotations()).(v1.ImageIndex), nil
}

// annotations describe the image, under the names of the OCI image specification.
func (r release) annotations() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "jobledger",
		"org.opencontainers.image.description": "A Kubernetes Job controller whose memory is a durable event log",
		"org.opencontainers.image.version":     r.version,
		"org.opencontainers.image.revision":    r.commit.hash,
		"org.opencontainers.image.created":     r.commit.time.UTC().Format("2006-01-02T15:04:05Z"),
		"org.opencontainers.image.source":      "https://github.com/jobledger/jobledger",
		"org.opencontainers.image.licenses":    "Apache-2.0",
	}
}
