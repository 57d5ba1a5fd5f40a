// Package ha runs several real controllers whose log is replicated, on a real API server and real NATS servers. Their
// leader is killed, or told to stop, while Jobs run. The judges are the API server's objects (package ledger), and the
// logs: each is verified and replayed, and all are beginnings of one.
package ha
