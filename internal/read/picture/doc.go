// Package picture draws the timeline of a Job as SVG: for the page, for a file, and for a README.
//
//	svg := picture.Timeline(t, picture.Options{Alone: true})
//
// A picture says nothing that the timeline does not: it is an answer of package ask, laid out. Every mark that a record
// stands behind names it, and is a link where Options.Record makes one. Times in which nothing is drawn are folded, and
// the fold says how long they are. Patterns stand beside colours, so that nothing is told by colour alone, and both
// themes are in one picture.
//
// # What it draws
//
// From the top: the times, how many pods were wanted and when the Job was suspended, when the cluster was watched,
// edits and decisions, then a lane for each index or try. A whisker before the end of a try is the time in which it may
// have ended. Above MostLanes lanes, those in which one try succeeded at once become one line with a strip of all
// indexes.
//
// Texts of others are escaped, and cut to the room that there is; the whole text is the title of the mark, which a
// browser shows.
//
// # Concurrency
//
// Functions may be called by several goroutines. They keep nothing.
package picture
