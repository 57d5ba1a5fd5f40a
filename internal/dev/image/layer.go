package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// The program runs as this user. It is a number, so that a kubelet can verify runAsNonRoot.
const (
	user   = 65532
	logDir = "/var/lib/jobledger" // the mount point of the log's volume in deploy/
)

// layer returns a layer with the program, the licences of its modules, and the user in /etc/passwd. Root owns
// everything except the directory for the log, so the program cannot change other files.
func layer(program, licences []byte, modified time.Time) (v1.Layer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range []struct {
		name string
		mode int64
		uid  int
		body []byte // nil for a directory
	}{
		{"etc/", 0o755, 0, nil},
		{"etc/group", 0o644, 0, []byte("root:x:0:\nnonroot:x:65532:\n")},
		{"etc/passwd", 0o644, 0, []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		{"jobledger", 0o755, 0, program},
		{"licenses.txt", 0o644, 0, licences},
		{"var/", 0o755, 0, nil},
		{"var/lib/", 0o755, 0, nil},
		{"var/lib/jobledger/", 0o700, user, nil},
	} {
		h := &tar.Header{Name: e.name, Mode: e.mode, Uid: e.uid, Gid: e.uid, Size: int64(len(e.body)), ModTime: modified, Typeflag: tar.TypeReg}
		if e.body == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.body); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
		tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithMediaType("application/vnd.oci.image.layer.v1.tar+gzip"))
}
