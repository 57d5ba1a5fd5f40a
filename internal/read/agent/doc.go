// Package agent gives a log's answers to a language model, over the Model Context Protocol: seven tools that only read.
//
//	server := agent.New(agent.Config{Open: open, Version: "v1.0.0"})
//	err := server.Run(ctx, &mcp.StdioTransport{})
//
// Each tool asks one question of package ask; records lists records, as the command events does. An answer is Markdown
// of at most [MostText] bytes, and beside it the JSON of the command's -o json, of at most [MostJSON] bytes. What does
// not fit is left out, and both say how much.
//
// # What others wrote
//
// Texts of pods, users and the API server stand in sentences of an answer. An order that such a text gives must not
// look like a word of ours. So each sentence of an answer stands in marked quotes, «like this», on one line. A text
// cannot end its quote: the marks in it are written ‹ and ›, a backtick is written ', and whatever is not a visible
// character is escaped. Outside of the quotes stand labels, numbers of records and notes on what was cut: words of this
// package, and nothing else. The instructions say that a quote is data.
//
// # Concurrency
//
// Tools may be called side by side; the protocol's library does. Each call opens the log for itself, so an answer
// is as of the newest record.
//
// Read server.go, then tools.go.
package agent
