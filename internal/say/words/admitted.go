package words

import "strings"

// Admitted says what admission changed of a pod, as a record has it (events.Evidence.Admitted): "containers[proxy]
// added, containers[main].image app:2 → mirror/app:2". It is empty for nothing and for unknown.
func Admitted(names []string) string {
	var parts []string
	for _, name := range names {
		switch {
		case name == "":
		case strings.HasPrefix(name, "+"):
			parts = append(parts, name[1:]+" added")
		case strings.HasPrefix(name, "-"):
			parts = append(parts, name[1:]+" removed")
		case strings.Contains(name, " → "): // of an image, with both
			parts = append(parts, name)
		case name == "…":
			parts = append(parts, "and more")
		default:
			parts = append(parts, name+" changed")
		}
	}
	return strings.Join(parts, ", ")
}
