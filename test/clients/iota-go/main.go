// Walks a list of NFTs with iota.go as programs do: main URL PAGESIZE [ADDRESS]. Prints a line a
// page: its output IDs, and of how many of them the output could be read.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/iotaledger/iota.go/v3/nodeclient"
)

func main() {
	if err := walk(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func walk(url string, size string, address []string) error {
	ctx := context.Background()
	indexer, err := nodeclient.New(url).Indexer(ctx)
	if err != nil {
		return err
	}
	query := &nodeclient.NFTsQuery{AddressBech32: strings.Join(address, "")}
	if query.PageSize, err = strconv.Atoi(size); err != nil {
		return err
	}
	result, err := indexer.Outputs(ctx, query)
	if err != nil {
		return err
	}
	for result.Next() {
		outputs, err := result.Outputs()
		if err != nil {
			return err
		}
		fmt.Println(len(outputs), strings.Join(result.Response.Items, " "))
	}
	return result.Error
}
