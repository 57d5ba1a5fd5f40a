package indexset

import (
	"slices"
	"sort"
	"strconv"
	"strings"
)

// span is a range of completion indexes, from first through last.
type span struct{ first, last int32 }

// Set is a set of completion indexes, stored as sorted spans that neither touch nor overlap. The zero value is empty.
// The cost depends on the number of spans.
type Set struct {
	spans []span
	count int32
}

// Len returns the number of indexes.
func (s *Set) Len() int32 { return s.count }

// at returns the position of the first span that ends at or after i.
func (s *Set) at(i int32) int {
	return sort.Search(len(s.spans), func(k int) bool { return s.spans[k].last >= i })
}

// Has reports whether i is in the set.
func (s *Set) Has(i int32) bool {
	k := s.at(i)
	return k < len(s.spans) && s.spans[k].first <= i
}

// All yields the indexes, ascending.
func (s *Set) All(yield func(int32) bool) {
	for _, p := range s.spans {
		for i := p.first; i <= p.last; i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// Add adds i and reports whether it was missing.
func (s *Set) Add(i int32) bool {
	k := s.at(i)
	if k < len(s.spans) && s.spans[k].first <= i {
		return false
	}
	s.count++
	left := k > 0 && s.spans[k-1].last == i-1
	right := k < len(s.spans) && s.spans[k].first == i+1
	switch {
	case left && right:
		s.spans[k-1].last = s.spans[k].last
		s.spans = slices.Delete(s.spans, k, k+1)
	case left:
		s.spans[k-1].last = i
	case right:
		s.spans[k].first = i
	default:
		s.spans = slices.Insert(s.spans, k, span{i, i})
	}
	return true
}

// Remove removes i and reports whether it was present.
func (s *Set) Remove(i int32) bool {
	k := s.at(i)
	if k == len(s.spans) || s.spans[k].first > i {
		return false
	}
	s.count--
	switch p := s.spans[k]; {
	case p.first == i && p.last == i:
		s.spans = slices.Delete(s.spans, k, k+1)
	case p.first == i:
		s.spans[k].first = i + 1
	case p.last == i:
		s.spans[k].last = i - 1
	default:
		s.spans[k].last = i - 1
		s.spans = slices.Insert(s.spans, k+1, span{i + 1, p.last})
	}
	return true
}

// AddAll adds all indexes of o.
func (s *Set) AddAll(o *Set) {
	if len(s.spans) == 0 {
		*s = o.Clone()
		return
	}
	for _, p := range o.spans {
		for i := p.first; i <= p.last; i++ {
			s.Add(i)
		}
	}
}

// Trim removes every index >= limit.
func (s *Set) Trim(limit int32) {
	k := s.at(limit)
	if k < len(s.spans) && s.spans[k].first < limit {
		s.spans[k].last = limit - 1
		k++
	}
	s.spans = s.spans[:k]
	s.count = 0
	for _, p := range s.spans {
		s.count += p.last - p.first + 1
	}
}

// Gaps appends to buf the lowest indexes below limit that are not in the set, at most n of them.
func (s *Set) Gaps(buf []int32, limit int32, n int) []int32 {
	next := int32(0)
	for _, p := range s.spans {
		for ; next < p.first && next < limit && n > 0; next++ {
			buf = append(buf, next)
			n--
		}
		if n <= 0 || next >= limit {
			return buf
		}
		next = p.last + 1
	}
	for ; next < limit && n > 0; next++ {
		buf = append(buf, next)
		n--
	}
	return buf
}

// Below reports whether every index in the set is below limit.
func (s *Set) Below(limit int32) bool {
	return len(s.spans) == 0 || s.spans[len(s.spans)-1].last < limit
}

// Clone returns an independent copy.
func (s *Set) Clone() Set { return Set{spans: slices.Clone(s.spans), count: s.count} }

// Equal reports whether both sets are equal.
func (s *Set) Equal(o *Set) bool { return slices.Equal(s.spans, o.spans) }

// Text returns the API's form of the set (J-041): increasing decimals joined by commas. Three or more in a row become
// first-last, two become first,last. Example: {0, 1, 3, 4, 5} is "0,1,3-5".
func (s *Set) Text() string {
	var b []byte
	for _, p := range s.spans {
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(p.first), 10)
		switch {
		case p.last > p.first+1:
			b = append(b, '-')
			b = strconv.AppendInt(b, int64(p.last), 10)
		case p.last == p.first+1:
			b = append(b, ',')
			b = strconv.AppendInt(b, int64(p.last), 10)
		}
	}
	return string(b)
}

// Parse reads the API's form (J-042). It skips corrupt parts, stops at a part that starts at or above limit, clips a
// range that crosses limit, and merges neighbours.
func Parse(text string, limit int32) Set {
	var s Set
	for part := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		first, err := strconv.ParseInt(from, 10, 32)
		if err != nil {
			continue // skip a corrupt part, such as "-1": its sign counts as a dash, so no number is negative
		}
		last := first
		if ranged {
			if last, err = strconv.ParseInt(to, 10, 32); err != nil || last < first {
				continue
			}
		}
		if first >= int64(limit) {
			break
		}
		s.append(int32(first), min(int32(last), limit-1))
	}
	return s
}

// append adds a range at the end, for Parse. It drops a range that does not come after the last span, because the text
// in the API is increasing.
func (s *Set) append(first, last int32) {
	if n := len(s.spans); n > 0 {
		p := &s.spans[n-1]
		if first <= p.last {
			if first = p.last + 1; first > last {
				return
			}
		}
		if first == p.last+1 {
			s.count += last - p.last
			p.last = last
			return
		}
	}
	s.spans = append(s.spans, span{first, last})
	s.count += last - first + 1
}
