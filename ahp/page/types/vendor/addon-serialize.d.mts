export * from '@xterm/addon-serialize';
