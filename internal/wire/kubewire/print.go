package kubewire

import (
	"hash/maphash"
	"strings"
)

// Parts of a pod's spec that differ between pods of one template. Admission adds the volume of the service account's
// token under a random name, and its mount in each container. Pods of an Indexed Job have their index in a variable.
const (
	TokenVolume   = "kube-api-access-" // prefix of the name
	TokenMount    = "/var/run/secrets/kubernetes.io/serviceaccount"
	IndexVariable = "JOB_COMPLETION_INDEX"
)

var printSeed = maphash.MakeSeed()

// Print returns a hash of the spec in Whole, without its host name and without these parts. Pods of one template have
// the same hash. It differs between processes.
func (s *PodSpec) Print() uint64 {
	var h maphash.Hash
	h.SetSeed(printSeed)
	var err error
	for f := (fields{rest: s.Whole}); ; {
		from := f.rest
		if !f.next(&err) {
			return h.Sum64()
		}
		switch whole := from[:len(from)-len(f.rest)]; f.number {
		case 1:
			if !strings.HasPrefix(firstText(f.bytes, 1), TokenVolume) {
				h.Write(whole)
			}
		case 2, 20:
			printContainer(&h, f.bytes)
		case 16:
		default:
			h.Write(whole)
		}
	}
}

// printContainer hashes a container, without the mount of the token and the variable of the index.
func printContainer(h *maphash.Hash, b []byte) {
	var err error
	h.WriteByte(0)
	for f := (fields{rest: b}); ; {
		from := f.rest
		if !f.next(&err) {
			return
		}
		switch {
		case f.number == 9 && firstText(f.bytes, 3) == TokenMount:
		case f.number == 7 && firstText(f.bytes, 1) == IndexVariable:
		default:
			h.Write(from[:len(from)-len(f.rest)])
		}
	}
}

// firstText returns the text of the first field with the number; empty if there is none.
func firstText(b []byte, number int) string {
	var err error
	for f := (fields{rest: b}); f.next(&err); {
		if int(f.number) == number {
			return string(f.bytes)
		}
	}
	return ""
}
