/* Tables that can be searched and sorted; without this script they are plain tables. */

(() => {
  "use strict";

  const numeric = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  const textOf = (row, column) => row.cells[column].textContent.trim();

  /** Return what a reader types, as words that must all be in a row. */
  const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

  function addSearch(table) {
    const label = document.createElement("label");
    label.className = "table-search";
    label.append("Search ");
    const box = document.createElement("input");
    box.type = "search";
    const count = document.createElement("span");
    count.setAttribute("role", "status");
    label.append(box);
    const line = document.createElement("p");
    line.className = "table-tools";
    line.append(label, " ", count);
    table.parentElement.before(line);

    const rows = [...table.tBodies[0].rows];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const filter = () => {
      const wanted = words(box.value);
      let shown = 0;
      rows.forEach((row, number) => {
        const fits = wanted.every((word) => texts[number].includes(word));
        row.hidden = !fits;
        shown += fits;
      });
      count.textContent = `${shown} of ${rows.length}`;
    };
    box.addEventListener("input", filter);
    box.value = new URLSearchParams(location.search).get("q") ?? "";
    filter();
  }

  function addSorting(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => numeric.compare(textOf(a, column), textOf(b, column)));
        table.tBodies[0].append(...(down ? rows.reverse() : rows));
      });
    });
  }

  for (const table of document.querySelectorAll(".operations table")) {
    if (table.tBodies[0].rows.length > 10) {
      addSearch(table);
    }
    addSorting(table);
  }
})();
