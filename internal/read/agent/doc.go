// Package agent answers a language model's questions about a log over the Model Context Protocol. It has seven tools,
// and all of them only read.
//
//	server := agent.New(agent.Config{Open: open, Version: "v1.0.0"})
//	err := server.Run(ctx, &mcp.StdioTransport{})
//
// Each tool asks one question of package ask; the tool records lists records, as the command events does. An answer has
// two parts: Markdown of at most [MostText] bytes, and the JSON of the command's -o json of at most [MostJSON] bytes.
// If a part is too long, it is cut and says how much is missing.
//
// # What others wrote
//
// The sentences of an answer contain texts of pods, users and the API server. A command in such a text must not look
// like an instruction of ours. Each sentence therefore stands in marked quotes, «like this», on one line. A text cannot
// end its quote: marks in it are written ‹ and ›, a backtick is written ', and invisible characters are escaped.
// Outside of the quotes there are only words of this package: labels, numbers of records, and notes on what was cut.
// The instructions tell the model that a quote is data.
//
// # Concurrency
//
// Tools may be called concurrently, and the protocol's library does so. Each call opens the log for itself, so an
// answer is as of the newest record.
//
// Read server.go, then tools.go.
package agent
