// The edge of a screen that has another size than its pane has room for, and the way to fill that.

import { button } from './dom.js';
import { small } from './small.js';

export class Edge {
  /**
   * @param {import('./terminal.js').TerminalView} view
   * @param {() => void} fit
   */
  constructor(view, fit) {
    this.view = view;
    this.element = button('Fit', 'Fit', fit, 'quiet fit');
    this.element.title = 'Give the program the size of this pane';
    view.screen.addEventListener('fit', () => this.draw());
    this.draw();
  }

  draw() {
    const { view } = this, { state, screen } = view, room = screen.cells();
    const by = view.holds && !small(); // which is resized by itself
    const differs = view.shown && !by && !!room && (state.cols !== room.cols || state.rows !== room.rows);
    view.element.classList.toggle('edged', differs);
    this.element.hidden = !differs || state.exited || state.client || view.connection.observer;
  }
}
