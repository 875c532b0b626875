"""From the DOM of a page to Markdown: cut it into blocks, choose the blocks of the main text, render what is left."""
