extern int empty_room;
int empty_room;
