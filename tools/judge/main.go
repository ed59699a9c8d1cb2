// The judge takes simulated networks (test/simulator/reference/README.md) on standard input and
// writes on standard output what the reference decides about them: HORNET's own white flag over
// HORNET's own ledger, and iota.go's parsers, IDs, storage prices and JSON. It reads forward once
// and answers each line that has something to decide, in the order of the input.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 1 {
		fmt.Fprintln(os.Stderr, "Usage: judge < NETWORKS.jsonl > VERDICTS.jsonl")
		os.Exit(2)
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	err := judge(json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20)), encoder)
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

// judge reads lines until the input ends.
func judge(in *json.Decoder, out *json.Encoder) error {
	var node *node
	for number := 1; in.More(); number++ {
		var given line
		if err := in.Decode(&given); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if given.Type == "network" {
			if err := node.close(); err != nil {
				return err
			}
			opened, err := openNode(&given)
			if err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
			node = opened
			continue
		}
		if node == nil {
			return fmt.Errorf("line %d: no network before it", number)
		}
		answer, err := node.take(&given)
		if err != nil {
			return fmt.Errorf("line %d (%s %s): %w", number, given.Type, given.ID, err)
		}
		if answer == nil {
			continue
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
	return node.close()
}
