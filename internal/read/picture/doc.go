// Package picture draws the timeline of a Job as SVG: for a page, for a file, and for a README.
//
//	svg := picture.Timeline(t, picture.Options{Alone: true})
//
// A picture shows only what the timeline contains, an answer of package ask. A mark that follows from a record names
// the record, and is a link if Options.Record returns an address. A time without anything to draw is folded, and the
// fold shows its length. Patterns accompany colours, so nothing depends on colour alone. One picture contains both
// themes.
//
// # What it draws
//
// From the top: the times, how many pods were wanted and when the Job was suspended, when the cluster was watched,
// edits and decisions, then a lane for each index or try. A whisker before the end of a try spans the time in which it
// may have ended. If there are more than MostLanes lanes, the lanes with a single try that succeeded become one line,
// with a strip of all indexes above it. The others have pages of MostLanes lanes, those with a failed try first.
//
// Texts of others are escaped, and cut to the available room. The whole text is the title of the mark, which a browser
// shows.
//
// # Concurrency
//
// Several goroutines may call the functions. They keep no state.
package picture
