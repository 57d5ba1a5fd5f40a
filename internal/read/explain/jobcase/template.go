package jobcase

import (
	"encoding/json"
	"slices"
)

// Images returns the images in a redacted pod template, by container name.
func Images(template []byte) map[string]string {
	var t struct {
		Spec struct {
			Containers, InitContainers []struct{ Name, Image string }
		} `json:"spec"`
	}
	out := map[string]string{}
	if json.Unmarshal(template, &t) != nil {
		return out
	}
	for _, k := range slices.Concat(t.Spec.InitContainers, t.Spec.Containers) {
		out[k.Name] = k.Image
	}
	return out
}

// Regulars returns the names of the regular containers in a pod template; none if the template is unknown.
func Regulars(template []byte) []string { return namesIn(template, "containers") }

// Initials returns the names of the init containers in a pod template, including sidecars; none if it is unknown.
func Initials(template []byte) []string { return namesIn(template, "initContainers") }

func namesIn(template []byte, list string) (names []string) {
	var t struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	var containers []struct{ Name string }
	if json.Unmarshal(template, &t) != nil || json.Unmarshal(t.Spec[list], &containers) != nil {
		return nil
	}
	for _, k := range containers {
		names = append(names, k.Name)
	}
	return names
}
