// Command termhost keeps terminals alive for people and agents.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println("termhost")
		return
	}
	os.Exit(2)
}
