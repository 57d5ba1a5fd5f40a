package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// strict decodes objects, and refuses unknown fields.
var strict = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// Load stores the objects of YAML documents as they are given ([apiserver.Server.Load]). Nothing in the world reacts to
// them before all are stored.
func (s *Server) Load(documents []byte) (err error) {
	s.Do(func(w *world.World) { err = load(w, documents) })
	return err
}

func load(w *world.World, documents []byte) error {
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(documents)))
	for n := 1; ; n++ {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		object, _, err := strict.Decode(text, nil, nil)
		if err == nil {
			err = w.Server.Load(object)
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", n, err)
		}
	}
}
