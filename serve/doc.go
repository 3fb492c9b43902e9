// Package serve answers over HTTP with trained models of any kind:
//
//	request --> limits --> examples --> queue --> Runner of the model --> answer
//	                                      ^ requests of the same moment go together
//
// A Server is an http.Handler, to be mounted in a program of one's own, and Serve runs
// it with the timeouts that an open port needs. Two protocols lead to the same models:
//
//	POST /v1/predict, /v1/explain    plain JSON
//	/v2/...                          the Open Inference Protocol, for clients of KServe,
//	                                 Triton, Seldon and OpenVINO, with binary tensors
//
// Beside them /healthz and /readyz for the probes of Kubernetes, /metrics for Prometheus,
// /openapi.json (OpenAPI 3), and at / the explorer: the tree of the classes, and what a text
// does to it; it asks /api.
//
// # Errors
//
// All are {"error": "what is wrong; what to do"}, with a status of RFC 9110:
//
//	400  a request that does not fit: JSON, examples, options, an explanation of a network
//	401  no bearer token, or another than those of the file
//	404  no such path, model or version
//	405  a path of another method, which Allow names
//	408  a body that did not come in time
//	413  more bytes, examples or probabilities than one request may ask for
//	415  a Content-Encoding that is not gzip, deflate or identity
//	429  more examples wait, or more bytes are in memory, than Limits allow; Retry-After: 1
//	500  a bug; the log has its stack under the id of X-Request-Id
//	503  no answer in time, or the server stops
//
// # What it promises
//
// Answers have the bits of treeloss predict, however requests are put together. What a
// client sends costs bounded memory and time: what is too large is a 413, what does not
// fit the model a 400, and where more comes than can be answered in time a 429 with
// Retry-After (RFC 6585). A model whose file was replaced is opened beside the old one, takes its
// place between two requests, and the old one is closed when its last request is done.
package serve
